// The C side of package engine: libmujoco, opened at run time, behind functions
// that return when the library would end the process. No header of the library is
// needed: layouts.h says where each version has what is read here.
#ifndef TIEBREAK_SHIM_H
#define TIEBREAK_SHIM_H

#include "fields.h"

enum { TB_TEXT = 1000 };

enum { TB_OK, TB_BROKEN, TB_ERROR };

// A tb_model is a compiled model m (mjModel) with what Go reads of it.
typedef struct {
  void* m;
  double timestep;
#define SIZE(name) long long name;
#define ARRAY(type, name) type* name;
  MODEL_SIZES(SIZE) MODEL_ARRAYS(ARRAY)
#undef SIZE
#undef ARRAY
} tb_model;

// A tb_sim is one simulation d (mjData) of m. text holds what the engine said last.
typedef struct {
  const void* m;
  void* d;
  int nq, nv, nu;
  long long bytes;       // of memory, about
  double* time;
  const int* contacts;   // how many
#define DATA(name) double* name;
  DATA_ARRAYS(DATA)
#undef DATA
  char text[TB_TEXT];
} tb_sim;

int tb_open(const char* path, char* text);
int tb_version(void);
int tb_known(void);
int tb_oldest(void);
int tb_newest(void);
const char* tb_version_text(void);

tb_model* tb_load(const char* path, const void* xml, int n, char* text);
void tb_free_model(tb_model* m);
tb_sim* tb_make(const tb_model* m, char* text);
void tb_free(tb_sim* s);
int tb_id(const tb_model* m, int kind, const char* name);

int tb_reset(tb_sim* s);
int tb_forward(tb_sim* s);
int tb_kinematics(tb_sim* s);
int tb_contact_forces(tb_sim* s);
int tb_step(tb_sim* s, int n);
int tb_roll(tb_sim* s, const double* ctrl, int steps, int skip, double* out);
void tb_loop(tb_sim* s, const double* ctrl, int rows, int steps, int skip, int episode);

#endif
