//go:build mujoco

#define _GNU_SOURCE
#include "shim.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The functions of the library, each as a pointer tb_p_NAME.
#define FUNCTIONS(X)                                                          \
  X(mj_defaultVFS) X(mj_makeEmptyFileVFS) X(mj_deleteVFS) X(mj_loadXML)       \
  X(mj_deleteModel) X(mj_makeData) X(mj_deleteData) X(mj_name2id)             \
  X(mj_resetData) X(mj_forward) X(mj_kinematics) X(mj_step)                   \
  X(mj_rnePostConstraint)

#define DECLARE(f) static __typeof__(&f) tb_p_##f;
FUNCTIONS(DECLARE)

// Where a thread that is in the library goes back to when the library gives up,
// and where it leaves the last message.
static __thread sigjmp_buf* back;
static __thread char* said;

static void say_in(char* where, const char* text) { snprintf(where, TB_TEXT, "%s", text); }

static void say(const char* text) {
  if (said) say_in(said, text);
}

static void on_error(const char* text) {
  say(text);
  if (back) siglongjmp(*back, 1);
}

// GUARDED runs a statement in the library. Its value is TB_OK, or TB_ERROR if the
// library gave up, with its message in text. The frames that are skipped then are
// the library's alone.
#define GUARDED(text, statement)                                              \
  ({                                                                          \
    sigjmp_buf here;                                                          \
    volatile int code = TB_ERROR;                                             \
    back = &here;                                                             \
    said = (text);                                                            \
    if (!sigsetjmp(here, 0)) {                                                \
      statement;                                                              \
      code = TB_OK;                                                           \
    }                                                                         \
    back = 0;                                                                 \
    said = 0;                                                                 \
    code;                                                                     \
  })

static void* open_library(char* text) {
  char name[64];
  const char* given = getenv("TIEBREAK_MUJOCO");
  if (given && *given) {
    void* lib = dlopen(given, RTLD_NOW | RTLD_LOCAL);
    if (!lib) snprintf(text, TB_TEXT, "TIEBREAK_MUJOCO: %s", dlerror());
    return lib;
  }
  snprintf(name, sizeof name, "libmujoco.so.%d.%d.%d", mjVERSION_HEADER / 100,
           mjVERSION_HEADER / 10 % 10, mjVERSION_HEADER % 10);
  const char* names[] = {name, "libmujoco.so", "libmujoco.dylib", 0};
  for (const char** n = names; *n; n++) {
    void* lib = dlopen(*n, RTLD_NOW | RTLD_LOCAL);
    if (lib) return lib;
  }
  snprintf(text, TB_TEXT, "%s is not installed", name);
  return 0;
}

// fits reports whether the library's structures are those of the headers.
static int fits(void* lib, char* text) {
  int (*version)(void) = (int (*)(void))dlsym(lib, "mj_version");
  if (!version) {
    snprintf(text, TB_TEXT, "the library is not MuJoCo");
    return 0;
  }
  if (version() != mjVERSION_HEADER) {
    snprintf(text, TB_TEXT, "the library is version %d and this program was built for %d",
             version(), mjVERSION_HEADER);
    return 0;
  }
  return 1;
}

// tb_open opens the library. It returns TB_ERROR, and why in text, if there is
// none or it does not fit.
int tb_open(char* text) {
  void* lib = open_library(text);
  if (!lib || !fits(lib, text)) return TB_ERROR;
#define RESOLVE(f)                                                            \
  if (!(tb_p_##f = (__typeof__(&f))dlsym(lib, #f))) {                         \
    snprintf(text, TB_TEXT, "the library has no function " #f);               \
    return TB_ERROR;                                                          \
  }
  FUNCTIONS(RESOLVE)
  void (**on)(const char*) = dlsym(lib, "mju_user_error");
  void (**warn)(const char*) = dlsym(lib, "mju_user_warning");
  if (!on || !warn) {
    snprintf(text, TB_TEXT, "the library has no handlers of errors");
    return TB_ERROR;
  }
  *on = on_error;
  *warn = say;
  return TB_OK;
}

// load compiles the file at path, or the n bytes of xml by way of files.
static mjModel* load(const char* path, mjVFS* files, const void* xml, int n, char* text) {
  if (path) return tb_p_mj_loadXML(path, 0, text, TB_TEXT);
  tb_p_mj_defaultVFS(files);
  mjModel* m = 0;
  if (!tb_p_mj_makeEmptyFileVFS(files, "model.xml", n)) {
    memcpy(files->filedata[0], xml, n);
    m = tb_p_mj_loadXML("model.xml", files, text, TB_TEXT);
  }
  tb_p_mj_deleteVFS(files);
  return m;
}

// tb_load compiles a model: the file at path, or the n bytes of xml if path is
// null. It returns null, and why in text, if the engine refuses it.
mjModel* tb_load(const char* path, const void* xml, int n, char* text) {
  mjModel* volatile m = 0;
  mjVFS* files = malloc(sizeof *files);  // 2 MB
  if (!files) {
    say_in(text, "out of memory");
    return 0;
  }
  if (GUARDED(text, m = load(path, files, xml, n, text)) != TB_OK) m = 0;
  free(files);
  return m;
}

void tb_free_model(mjModel* m) { tb_p_mj_deleteModel(m); }

// tb_make returns a simulation of m, or null and why in text.
tb_sim* tb_make(const mjModel* m, char* text) {
  tb_sim* s = calloc(1, sizeof *s);
  if (!s) {
    say_in(text, "out of memory");
    return 0;
  }
  s->m = m;
  if (GUARDED(text, s->d = tb_p_mj_makeData(m)) != TB_OK || !s->d) {
    free(s);
    return 0;
  }
  return s;
}

void tb_free(tb_sim* s) {
  tb_p_mj_deleteData(s->d);
  free(s);
}

int tb_id(const mjModel* m, int kind, const char* name) { return tb_p_mj_name2id(m, kind, name); }

int tb_reset(tb_sim* s) { return GUARDED(s->text, tb_p_mj_resetData(s->m, s->d)); }
int tb_forward(tb_sim* s) { return GUARDED(s->text, tb_p_mj_forward(s->m, s->d)); }
int tb_kinematics(tb_sim* s) { return GUARDED(s->text, tb_p_mj_kinematics(s->m, s->d)); }
int tb_contact_forces(tb_sim* s) { return GUARDED(s->text, tb_p_mj_rnePostConstraint(s->m, s->d)); }

// broken reports whether the engine has warned since the last reset. It warns
// before it resets a state that is not finite, and when its buffers are full.
static int broken(const mjData* d) {
  int n = 0;
  for (int i = 0; i < mjNWARNING; i++) n += d->warning[i].number;
  return n > 0 ? TB_BROKEN : TB_OK;
}

// tb_step makes n steps with the controls as they stand.
int tb_step(tb_sim* s, int n) {
  if (GUARDED(s->text, for (int i = 0; i < n; i++) tb_p_mj_step(s->m, s->d)) != TB_OK) return TB_ERROR;
  return broken(s->d);
}

static void roll(tb_sim* s, const double* ctrl, int steps, int skip, double* out) {
  const mjModel* m = s->m;
  mjData* d = s->d;
  for (int t = 0; t < steps; t++) {
    memcpy(d->ctrl, ctrl + (size_t)t * m->nu, sizeof(double) * m->nu);
    for (int k = 0; k < skip; k++) {
      tb_p_mj_step(m, d);
      if (out) {
        memcpy(out, d->qpos, sizeof(double) * m->nq);
        memcpy(out + m->nq, d->qvel, sizeof(double) * m->nv);
        out += m->nq + m->nv;
      }
    }
  }
}

// tb_roll plays controls, steps rows of nu, each for skip engine steps, and stores
// qpos and qvel after every engine step in out unless it is null.
int tb_roll(tb_sim* s, const double* ctrl, int steps, int skip, double* out) {
  if (GUARDED(s->text, roll(s, ctrl, steps, skip, out)) != TB_OK) return TB_ERROR;
  return broken(s->d);
}

// tb_loop is what the binding is measured against: whole episodes of a plain loop.
void tb_loop(tb_sim* s, const double* ctrl, int rows, int steps, int skip, int episode) {
  const mjModel* m = s->m;
  mjData* d = s->d;
  for (int t = 0; t < steps; t++) {
    if (t % episode == 0) {
      tb_p_mj_resetData(m, d);
      tb_p_mj_forward(m, d);
    }
    memcpy(d->ctrl, ctrl + (size_t)(t % rows) * m->nu, sizeof(double) * m->nu);
    for (int k = 0; k < skip; k++) tb_p_mj_step(m, d);
  }
}
