// What package engine reads of the engine's structures. The library's layout of
// them differs between versions; layouts.h holds where each version has them.
#ifndef TIEBREAK_FIELDS_H
#define TIEBREAK_FIELDS_H

// Sizes in mjModel.
#define MODEL_SIZES(X)                                                        \
  X(nq) X(nv) X(nu) X(na) X(nbody) X(njnt) X(ngeom) X(nsite) X(nsensor)       \
  X(nsensordata)

// Arrays in mjModel, each with the type of its elements.
#define MODEL_ARRAYS(X)                                                       \
  X(double, qpos0) X(double, body_mass) X(double, body_inertia)               \
  X(int, body_weldid) X(int, jnt_type) X(int, jnt_qposadr)                    \
  X(int, jnt_dofadr) X(tb_byte, jnt_limited) X(double, jnt_range)             \
  X(int, geom_type) X(int, geom_bodyid) X(int, geom_group)                    \
  X(double, geom_size) X(float, geom_rgba) X(int, sensor_adr)                 \
  X(int, sensor_dim) X(tb_byte, actuator_ctrllimited)                         \
  X(double, actuator_ctrlrange)

// Arrays of numbers in mjData.
#define DATA_ARRAYS(X)                                                        \
  X(qpos) X(qvel) X(ctrl) X(act) X(qacc_warmstart) X(qfrc_constraint) X(xpos) \
  X(xmat) X(geom_xpos) X(geom_xmat) X(site_xpos) X(cfrc_ext) X(cvel)          \
  X(sensordata)

// Kinds of named things, in the order of engine.Kind.
#define KINDS(X)                                                              \
  X(BODY) X(JOINT) X(GEOM) X(SITE) X(ACTUATOR) X(SENSOR)

typedef unsigned char tb_byte;

// A tb_layout says where the versions first to last of the library have what this
// package reads: offsets and sizes in bytes.
typedef struct {
  int first, last;   // as mj_version returns them
  int size_bytes;    // of one of MODEL_SIZES
  int timestep;      // in mjModel
  int time, contacts;                                // in mjData
  int warning, warnings, warning_bytes, warning_number;  // statistics: where, how many, of one, its count
  int buffer, arena, memory_bytes, arena_unit;       // two sizes in mjData, their width, the unit of the second
  int vfs_bytes;     // of mjVFS
  int vfs_files;     // its list of contents, where mj_addBufferVFS does not exist; else -1
#define SIZE(name) int m_##name;
#define ARRAY(type, name) int m_##name;
#define DATA(name) int d_##name;
#define KIND(name) int kind_##name;
  MODEL_SIZES(SIZE) MODEL_ARRAYS(ARRAY) DATA_ARRAYS(DATA) KINDS(KIND)
#undef SIZE
#undef ARRAY
#undef DATA
#undef KIND
} tb_layout;

#endif
