// Prints the row of layouts.h for the version of MuJoCo whose headers it is
// compiled with. It does not compile where a type is not what package engine takes
// it for. generate.sh runs it.
#include <mujoco/mujoco.h>
#include <stddef.h>
#include <stdio.h>

#include "../fields.h"

#define MODEL(name) offsetof(mjModel, name)
#define DATA(name) offsetof(mjData, name)
#define BYTES(structure, name) sizeof(((structure*)0)->name)

#define SAME_SIZE(name) _Static_assert(BYTES(mjModel, name) == BYTES(mjModel, nq), #name);
MODEL_SIZES(SAME_SIZE)

#define IS_double(x) _Generic(x, double*: 1, default: 0)
#define IS_float(x) _Generic(x, float*: 1, default: 0)
#define IS_int(x) _Generic(x, int*: 1, default: 0)
#define IS_tb_byte(x) _Generic(x, unsigned char*: 1, _Bool*: 1, default: 0)
#define MODEL_TYPE(type, name) _Static_assert(IS_##type(((mjModel*)0)->name), #name);
MODEL_ARRAYS(MODEL_TYPE)
#define DATA_TYPE(name) _Static_assert(IS_double(((mjData*)0)->name), #name);
DATA_ARRAYS(DATA_TYPE)

_Static_assert(BYTES(mjModel, opt.timestep) == sizeof(double), "timestep");
_Static_assert(BYTES(mjData, time) == sizeof(double), "time");
_Static_assert(BYTES(mjData, ncon) == sizeof(int), "ncon");
_Static_assert(BYTES(mjWarningStat, number) == sizeof(int), "number");

// engine.JointType and engine.GeomType are the library's numbers.
_Static_assert(mjJNT_FREE == 0 && mjJNT_BALL == 1 && mjJNT_SLIDE == 2 && mjJNT_HINGE == 3, "joints");
_Static_assert(mjGEOM_PLANE == 0 && mjGEOM_HFIELD == 1 && mjGEOM_SPHERE == 2 && mjGEOM_CAPSULE == 3 &&
                   mjGEOM_ELLIPSOID == 4 && mjGEOM_CYLINDER == 5 && mjGEOM_BOX == 6 && mjGEOM_MESH == 7,
               "geoms");

#if mjVERSION_HEADER < 300
#define ARENA nstack
#define ARENA_UNIT (int)sizeof(double)
#else
#define ARENA narena
#define ARENA_UNIT 1
#endif
_Static_assert(BYTES(mjData, nbuffer) == BYTES(mjData, ARENA), "memory");

#if mjVERSION_HEADER < 313
#define VFS_FILES (int)offsetof(mjVFS, filedata)
#else
#define VFS_FILES -1
#endif

int main(void) {
  printf("    {%d, %d, %zu, %zu", mjVERSION_HEADER, mjVERSION_HEADER, BYTES(mjModel, nq), MODEL(opt.timestep));
  printf(", %zu, %zu", DATA(time), DATA(ncon));
  printf(", %zu, %d, %zu, %zu", DATA(warning), mjNWARNING, sizeof(mjWarningStat), offsetof(mjWarningStat, number));
  printf(", %zu, %zu, %zu, %d", DATA(nbuffer), DATA(ARENA), BYTES(mjData, nbuffer), ARENA_UNIT);
  printf(", %zu, %d", sizeof(mjVFS), VFS_FILES);
#define SIZE(name) printf(", %zu", MODEL(name));
#define ARRAY(type, name) printf(", %zu", MODEL(name));
#define ITEM(name) printf(", %zu", DATA(name));
#define KIND(name) printf(", %d", mjOBJ_##name);
  MODEL_SIZES(SIZE) MODEL_ARRAYS(ARRAY) DATA_ARRAYS(ITEM) KINDS(KIND)
  printf("},\n");
  return 0;
}
