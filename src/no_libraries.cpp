// Takes the place of dlopen() in the static program. A static program brings its own glibc, and a
// library of the machine would bring another. Callers see a library that is not there.

extern "C" {

void* __wrap_dlopen(const char*, int) { return nullptr; }

const char* __wrap_dlerror() { return "the static program of loaderscope loads no library"; }
}
