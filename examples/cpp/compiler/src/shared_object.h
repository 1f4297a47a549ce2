// Compiles C++ text into a shared object in a temporary folder and loads it; unloads and deletes it in the end.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string>

#ifdef _WIN32  // not run by us; needs g++ or clang++ from MinGW, because cl takes other options
#define NOMINMAX
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace small_compiler {

namespace fs = std::filesystem;

#ifdef _WIN32  // not run by us
using Handle = HMODULE;
inline Handle open_library(const fs::path& path) { return LoadLibraryW(path.c_str()); }
inline void close_library(Handle handle) { FreeLibrary(handle); }
inline void* look_up(Handle handle, const char* name) { return reinterpret_cast<void*>(GetProcAddress(handle, name)); }
inline std::string quoted(const fs::path& path) { return "\"" + path.string() + "\""; }
inline int shell(const std::string& command) { return std::system(("\"" + command + "\"").c_str()); }
#else
using Handle = void*;
inline Handle open_library(const fs::path& path) { return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL); }
inline void close_library(Handle handle) { dlclose(handle); }
inline void* look_up(Handle handle, const char* name) { return dlsym(handle, name); }
inline std::string quoted(const fs::path& path) {
    std::string text;
    for (char c : path.string()) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return "'" + text + "'";
}
inline int shell(const std::string& command) { return std::system(command.c_str()); }
#endif

// Something outside this program is missing; what() is one line with a remedy.
struct EnvironmentError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// -ffp-contract=off: else a * b + c may become one instruction that rounds once instead of twice, and fused code would
// not give the bits of unfused code. It is Inductor's default, too.
// -fno-math-errno, -fno-trapping-math: else std::sqrt may have to set errno, and a comparison with NaN may have to
// raise a signal; g++ does not vectorise a loop with either. Neither changes a result.
// -march=native: not on Apple's machines (not run by us), where some versions of clang do not know it.
#ifdef __APPLE__
#define MARCH_NATIVE ""
#else
#define MARCH_NATIVE " -march=native"
#endif
const char* const compile_options =
    " -std=c++17 -O3" MARCH_NATIVE " -fPIC -shared -ffp-contract=off -fno-math-errno -fno-trapping-math ";

inline std::string run_time_compiler() {
    const char* chosen = std::getenv("CXX");
    if (!chosen || !*chosen) return "c++";
    // A path may contain blanks and gets quotes; "ccache g++" is two words and must not.
    std::error_code ignored;
    return fs::exists(chosen, ignored) ? quoted(chosen) : chosen;
}

struct TemporaryFolder {
    fs::path path;
    TemporaryFolder() {
        std::random_device random;
        std::error_code failed;
        const fs::path parent = fs::temp_directory_path(failed);  // empty where there is none
        for (int attempt = 0; attempt < 100 && !parent.empty(); ++attempt) {
            path = parent / ("small_compiler_" + std::to_string(random()));
            if (fs::create_directory(path, failed)) return;  // false also where it exists: then it is not ours
        }
        throw EnvironmentError("cannot make a temporary folder; set TMPDIR to a folder that you may write to");
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        fs::remove_all(path, ignored);
    }
};

class SharedObject {
  public:
    explicit SharedObject(const std::string& source) {
        const fs::path code = folder_.path / "program.cpp", library = folder_.path / "program.so";
        const std::string compiler = run_time_compiler(), log = " > " + quoted(folder_.path / "log.txt") + " 2>&1";
        std::ofstream(code) << source;
        if (shell(compiler + compile_options + quoted(code) + " -o " + quoted(library) + log) != 0) {
            if (shell(compiler + " --version" + log) == 0) {
                throw EnvironmentError(compiler + " refuses the generated code; print it with --code and compile it");
            }
            throw EnvironmentError("no C++ compiler: " + compiler +
                                   " does not run; install g++ or clang++, or set CXX to the one you have");
        }
        handle_ = open_library(library);
        if (!handle_) throw EnvironmentError("cannot load compiled code; set TMPDIR to a folder that allows it");
    }
    ~SharedObject() { close_library(handle_); }
    SharedObject(const SharedObject&) = delete;
    SharedObject& operator=(const SharedObject&) = delete;

    void* symbol(const char* name) const { return look_up(handle_, name); }

  private:
    TemporaryFolder folder_;  // a member, so that it is removed even where the constructor throws
    Handle handle_ = nullptr;
};

}  // namespace small_compiler
