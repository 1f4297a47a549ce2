@echo off
rem NOT RUN BY US. Builds and tests on Windows. Needs CMake 3.20 or newer, and g++ or clang++ from MinGW in the PATH.
rem The same g++ compiles the generated code at run time: cl (Visual Studio) takes other options.
chcp 65001 > nul
cd /d "%~dp0"
if "%CXX%"=="" set CXX=g++
cmake -G "MinGW Makefiles" -DCMAKE_CXX_COMPILER=%CXX% -B build || exit /b 1
cmake --build build || exit /b 1
ctest --test-dir build --output-on-failure || exit /b 1
build\small_compiler samples\softmax_like.graph --run
