@echo off
rem NOT RUN BY US. Builds on Windows. Needs CMake, Visual Studio's C++ compiler (run this in its "x64 Native Tools" prompt)
rem and `pip install torch`. PyTorch's C++ guide says what else Windows needs: the DLLs of torch beside the program.
cd /d "%~dp0"
for /f "delims=" %%p in ('python -c "import torch; print(torch.utils.cmake_prefix_path)"') do set PREFIX=%%p
cmake -DCMAKE_PREFIX_PATH="%PREFIX%" -B build || exit /b 1
cmake --build build --config Release || exit /b 1
copy /y "%PREFIX%\..\..\lib\*.dll" build\Release > nul
build\Release\run_model
