// Compiles C++ text into a shared object, loads it, and unloads and deletes it in the end.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>

namespace small_compiler {

// Something outside this program is missing or broken; what() is one line with a remedy.
struct EnvironmentError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class SharedObject {
  public:
    explicit SharedObject(const std::string& source);
    ~SharedObject();
    SharedObject(const SharedObject&) = delete;
    SharedObject& operator=(const SharedObject&) = delete;

    void* symbol(const char* name) const;

  private:
    void compile_and_load(const std::string& source);

    std::filesystem::path folder_;
    void* handle_ = nullptr;
};

}  // namespace small_compiler
