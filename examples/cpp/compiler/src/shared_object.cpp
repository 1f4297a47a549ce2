#include "shared_object.h"

#include <cstdlib>
#include <fstream>
#include <random>

#ifdef _WIN32  // not run by us
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace small_compiler {
namespace {

namespace fs = std::filesystem;

#ifdef _WIN32  // not run by us; expects g++ or clang++ for MinGW, as cl takes other options
const char* const kLibrary = "program.dll";
const char* const kNowhere = "NUL";
std::string quote(const std::string& path) { return "\"" + path + "\""; }
int shell(const std::string& command) { return std::system(("\"" + command + "\"").c_str()); }  // cmd strips a pair
void* load(const fs::path& path) { return reinterpret_cast<void*>(LoadLibraryW(path.c_str())); }
void unload(void* handle) { FreeLibrary(reinterpret_cast<HMODULE>(handle)); }
void* look_up(void* handle, const char* name) {
    return reinterpret_cast<void*>(GetProcAddress(reinterpret_cast<HMODULE>(handle), name));
}
std::string load_error() { return "error " + std::to_string(GetLastError()); }
#else
const char* const kLibrary = "program.so";
const char* const kNowhere = "/dev/null";
std::string quote(const std::string& path) {
    std::string text = "'";
    for (char c : path) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}
int shell(const std::string& command) { return std::system(command.c_str()); }
void* load(const fs::path& path) { return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL); }
void unload(void* handle) { dlclose(handle); }
void* look_up(void* handle, const char* name) { return dlsym(handle, name); }
std::string load_error() {
    const char* text = dlerror();
    return text ? text : "unknown error";
}
#endif

// -ffp-contract=off: otherwise a * b + c may become one instruction that rounds once instead of twice, and fused code
// would differ from unfused code in the last bit. Inductor passes it for the same reason.
// -fno-math-errno: otherwise std::sqrt may have to set errno, and a loop with it can't be vectorised.
#ifdef __APPLE__  // not run by us; clang on Apple's processors does not always know -march=native
const char* const kOptions = " -std=c++17 -O3 -fPIC -shared -ffp-contract=off -fno-math-errno ";
#else
const char* const kOptions = " -std=c++17 -O3 -march=native -fPIC -shared -ffp-contract=off -fno-math-errno ";
#endif

std::string compiler() {
    const char* chosen = std::getenv("CXX");
    if (!chosen || !*chosen) return "c++";
    // A path may contain blanks and needs quotes; "ccache g++" is two words and must have none.
    return fs::exists(chosen) ? quote(chosen) : chosen;
}

fs::path fresh_folder() {
    std::random_device random;
    for (int attempt = 0; attempt < 100; ++attempt) {
        const fs::path folder = fs::temp_directory_path() / ("small_compiler_" + std::to_string(random()));
        if (fs::create_directory(folder)) return folder;  // false: it exists and belongs to someone else
    }
    throw EnvironmentError("cannot make a temporary folder; set TMPDIR to a folder that you may write to");
}

}  // namespace

SharedObject::SharedObject(const std::string& source) : folder_(fresh_folder()) {
    try {
        compile_and_load(source);
    } catch (...) {  // no destructor runs for an object that was never finished
        std::error_code ignored;
        fs::remove_all(folder_, ignored);
        throw;
    }
}

void SharedObject::compile_and_load(const std::string& source) {
    const fs::path code = folder_ / "program.cpp", library = folder_ / kLibrary, log = folder_ / "log.txt";
    std::ofstream(code) << source;
    const std::string command = compiler() + kOptions + quote(code.string()) + " -o " + quote(library.string());
    if (shell(command + " > " + quote(log.string()) + " 2>&1") != 0) {
        if (shell(compiler() + " --version > " + kNowhere + " 2>&1") != 0) {
            throw EnvironmentError("no C++ compiler: " + compiler() +
                                   " does not run; install g++ or clang++, or set CXX to the one you have");
        }
        std::string first_line;
        std::ifstream log_file(log);
        while (first_line.find("error") == std::string::npos && std::getline(log_file, first_line)) {}
        throw EnvironmentError(compiler() + " refuses the generated code: " + first_line + "; look at it with --code");
    }
    handle_ = load(library);
    if (!handle_) throw EnvironmentError("cannot load the compiled code: " + load_error() + "; is TMPDIR noexec?");
}

SharedObject::~SharedObject() {
    unload(handle_);
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
}

void* SharedObject::symbol(const char* name) const {
    void* found = look_up(handle_, name);
    if (!found) throw EnvironmentError(std::string("the compiled code has no function ") + name);
    return found;
}

}  // namespace small_compiler
