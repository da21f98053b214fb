// The C side of package engine: libmujoco, opened at run time, behind functions
// that return when the library would end the process.
#ifndef TIEBREAK_SHIM_H
#define TIEBREAK_SHIM_H

#include <mujoco/mujoco.h>

#if mjVERSION_HEADER < 220 || mjVERSION_HEADER >= 230
#error "Tiebreak binds MuJoCo 2.2; install the headers of that version (Debian 12: libmujoco-dev)"
#endif

enum { TB_TEXT = 1000 };

enum { TB_OK, TB_BROKEN, TB_ERROR };

// A tb_sim is one simulation. text holds what the engine said last.
typedef struct {
  const mjModel* m;
  mjData* d;
  char text[TB_TEXT];
} tb_sim;

int tb_open(char* text);
mjModel* tb_load(const char* path, const void* xml, int n, char* text);
void tb_free_model(mjModel* m);
tb_sim* tb_make(const mjModel* m, char* text);
void tb_free(tb_sim* s);
int tb_id(const mjModel* m, int kind, const char* name);

int tb_reset(tb_sim* s);
int tb_forward(tb_sim* s);
int tb_kinematics(tb_sim* s);
int tb_contact_forces(tb_sim* s);
int tb_step(tb_sim* s, int n);
int tb_roll(tb_sim* s, const double* ctrl, int steps, int skip, double* out);
void tb_loop(tb_sim* s, const double* ctrl, int rows, int steps, int skip, int episode);

#endif
