//go:build cgo && (linux || darwin)

#define _GNU_SOURCE
#include "shim.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layouts.h"

enum { LAYOUTS = sizeof layouts / sizeof layouts[0] };

// The functions of the library that every version has, each as a pointer p_NAME.
// Models and simulations are opaque.
#define FUNCTIONS(X)                                                          \
  X(int, mj_version, (void))                                                  \
  X(const char*, mj_versionString, (void))                                    \
  X(void, mj_defaultVFS, (void* files))                                       \
  X(void, mj_deleteVFS, (void* files))                                        \
  X(void*, mj_loadXML, (const char* name, const void* files, char* text, int n)) \
  X(void, mj_deleteModel, (void* m))                                          \
  X(void*, mj_makeData, (const void* m))                                      \
  X(void, mj_deleteData, (void* d))                                           \
  X(int, mj_name2id, (const void* m, int kind, const char* name))             \
  X(void, mj_resetData, (const void* m, void* d))                             \
  X(void, mj_forward, (const void* m, void* d))                               \
  X(void, mj_kinematics, (const void* m, void* d))                            \
  X(void, mj_step, (const void* m, void* d))                                  \
  X(void, mj_rnePostConstraint, (const void* m, void* d))

#define DECLARE(result, name, arguments) static result(*p_##name) arguments;
FUNCTIONS(DECLARE)

// How a file of a virtual file system gets its content: the first until 3.1.2, the
// second since.
static int (*p_mj_makeEmptyFileVFS)(void* files, const char* name, int n);
static int (*p_mj_addBufferVFS)(void* files, const char* name, const void* content, int n);

static const tb_layout* layout;

// AT is the field of type at an offset of a structure.
#define AT(type, structure, offset) (*(type*)((char*)(structure) + (offset)))

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

// resolve finds the functions in the library and puts the handlers of messages in.
static int resolve(void* lib, char* text) {
  if (!dlsym(lib, "mj_version")) {
    say_in(text, "it is not MuJoCo");
    return TB_ERROR;
  }
#define RESOLVE(result, name, arguments)                                      \
  if (!(p_##name = (result(*) arguments)dlsym(lib, #name))) {                 \
    say_in(text, "it has no function " #name);                                \
    return TB_ERROR;                                                          \
  }
  FUNCTIONS(RESOLVE)
  p_mj_makeEmptyFileVFS = (int (*)(void*, const char*, int))dlsym(lib, "mj_makeEmptyFileVFS");
  p_mj_addBufferVFS = (int (*)(void*, const char*, const void*, int))dlsym(lib, "mj_addBufferVFS");
  void (**on)(const char*) = dlsym(lib, "mju_user_error");
  void (**warn)(const char*) = dlsym(lib, "mju_user_warning");
  if (!on || !warn) {
    say_in(text, "it has no handlers of errors");
    return TB_ERROR;
  }
  *on = on_error;
  *warn = say;
  return TB_OK;
}

// choose takes the layout of the library's version: its own, else that of the
// release before it.
static int choose(char* text) {
  layout = 0;
  for (const tb_layout* l = layouts; l < layouts + LAYOUTS && l->first <= p_mj_version(); l++) layout = l;
  if (!layout) {
    snprintf(text, TB_TEXT, "version %s is too old", p_mj_versionString());
    return TB_ERROR;
  }
  if (layout->vfs_files < 0 ? !p_mj_addBufferVFS : !p_mj_makeEmptyFileVFS) {
    say_in(text, "it has no function that loads a model from memory");
    return TB_ERROR;
  }
  return TB_OK;
}

// tb_open opens the library at path. It returns TB_ERROR, and why in text, if there
// is none or it is not MuJoCo or too old. It may be called again after an error.
int tb_open(const char* path, char* text) {
  void* lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!lib) {
    say_in(text, dlerror());
    return TB_ERROR;
  }
  if (resolve(lib, text) == TB_OK && choose(text) == TB_OK) return TB_OK;
  dlclose(lib);
  return TB_ERROR;
}

// tb_version is the opened library's, as mj_version returns it.
int tb_version(void) { return p_mj_version(); }

const char* tb_version_text(void) { return p_mj_versionString(); }

// tb_known reports whether the layout was measured for the opened library's version.
int tb_known(void) { return p_mj_version() <= layout->last; }

int tb_oldest(void) { return layouts[0].first; }
int tb_newest(void) { return layouts[LAYOUTS - 1].last; }

// in_memory compiles the n bytes of xml by way of files.
static void* in_memory(void* files, const void* xml, int n, char* text) {
  p_mj_defaultVFS(files);
  void* m = 0;
  int bad;
  if (layout->vfs_files < 0) {
    bad = p_mj_addBufferVFS(files, "model.xml", xml, n);
  } else if (!(bad = p_mj_makeEmptyFileVFS(files, "model.xml", n))) {
    memcpy(AT(void*, files, layout->vfs_files), xml, n);
  }
  if (bad) {
    snprintf(text, TB_TEXT, "the text of %d bytes cannot be loaded", n);
  } else {
    m = p_mj_loadXML("model.xml", files, text, TB_TEXT);
  }
  p_mj_deleteVFS(files);
  return m;
}

static tb_model* read_model(void* m) {
  tb_model* r = calloc(1, sizeof *r);
  if (!r) return 0;
  r->m = m;
  r->timestep = AT(double, m, layout->timestep);
#define SIZE(name)                                                            \
  r->name = layout->size_bytes == 4 ? AT(int, m, layout->m_##name) : AT(long long, m, layout->m_##name);
#define ARRAY(type, name) r->name = AT(type*, m, layout->m_##name);
  MODEL_SIZES(SIZE) MODEL_ARRAYS(ARRAY)
#undef SIZE
#undef ARRAY
  return r;
}

// tb_load compiles a model: the file at path, or the n bytes of xml if path is
// null. It returns null, and why in text, if the engine refuses it.
tb_model* tb_load(const char* path, const void* xml, int n, char* text) {
  void* volatile m = 0;
  void* files = malloc(layout->vfs_bytes);  // up to 2 MB
  if (!files) {
    say_in(text, "out of memory");
    return 0;
  }
  int code = GUARDED(text, m = path ? p_mj_loadXML(path, 0, text, TB_TEXT) : in_memory(files, xml, n, text));
  free(files);
  return code == TB_OK && m ? read_model(m) : 0;
}

void tb_free_model(tb_model* m) {
  p_mj_deleteModel(m->m);
  free(m);
}

static long long memory(const void* d) {
  int wide = layout->memory_bytes == 8;
  long long buffer = wide ? AT(long long, d, layout->buffer) : AT(int, d, layout->buffer);
  long long arena = wide ? AT(long long, d, layout->arena) : AT(int, d, layout->arena);
  return buffer + arena * layout->arena_unit;
}

// tb_make returns a simulation of m, or null and why in text.
tb_sim* tb_make(const tb_model* m, char* text) {
  tb_sim* s = calloc(1, sizeof *s);
  if (!s) {
    say_in(text, "out of memory");
    return 0;
  }
  if (GUARDED(text, s->d = p_mj_makeData(m->m)) != TB_OK || !s->d) {
    free(s);
    return 0;
  }
  s->m = m->m;
  s->nq = (int)m->nq, s->nv = (int)m->nv, s->nu = (int)m->nu;
  s->bytes = memory(s->d);
  s->time = &AT(double, s->d, layout->time);
  s->contacts = &AT(int, s->d, layout->contacts);
#define DATA(name) s->name = AT(double*, s->d, layout->d_##name);
  DATA_ARRAYS(DATA)
#undef DATA
  return s;
}

void tb_free(tb_sim* s) {
  p_mj_deleteData(s->d);
  free(s);
}

int tb_id(const tb_model* m, int kind, const char* name) {
#define KIND(name) layout->kind_##name,
  const int kinds[] = {KINDS(KIND)};
#undef KIND
  return p_mj_name2id(m->m, kinds[kind], name);
}

int tb_reset(tb_sim* s) { return GUARDED(s->text, p_mj_resetData(s->m, s->d)); }
int tb_forward(tb_sim* s) { return GUARDED(s->text, p_mj_forward(s->m, s->d)); }
int tb_kinematics(tb_sim* s) { return GUARDED(s->text, p_mj_kinematics(s->m, s->d)); }
int tb_contact_forces(tb_sim* s) { return GUARDED(s->text, p_mj_rnePostConstraint(s->m, s->d)); }

// broken reports whether the engine has warned since the last reset. It warns
// before it resets a state that is not finite, and when its buffers are full.
static int broken(const void* d) {
  int n = 0;
  for (int i = 0; i < layout->warnings; i++)
    n += AT(int, d, layout->warning + i * layout->warning_bytes + layout->warning_number);
  return n > 0 ? TB_BROKEN : TB_OK;
}

// tb_step makes n steps with the controls as they stand.
int tb_step(tb_sim* s, int n) {
  if (GUARDED(s->text, for (int i = 0; i < n; i++) p_mj_step(s->m, s->d)) != TB_OK) return TB_ERROR;
  return broken(s->d);
}

static void roll(tb_sim* s, const double* ctrl, int steps, int skip, double* out) {
  for (int t = 0; t < steps; t++) {
    memcpy(s->ctrl, ctrl + (size_t)t * s->nu, sizeof(double) * s->nu);
    for (int k = 0; k < skip; k++) {
      p_mj_step(s->m, s->d);
      if (out) {
        memcpy(out, s->qpos, sizeof(double) * s->nq);
        memcpy(out + s->nq, s->qvel, sizeof(double) * s->nv);
        out += s->nq + s->nv;
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
  for (int t = 0; t < steps; t++) {
    if (t % episode == 0) {
      p_mj_resetData(s->m, s->d);
      p_mj_forward(s->m, s->d);
    }
    memcpy(s->ctrl, ctrl + (size_t)(t % rows) * s->nu, sizeof(double) * s->nu);
    for (int k = 0; k < skip; k++) p_mj_step(s->m, s->d);
  }
}
