# Writes OUTPUT, a .cpp in which the files of FOLDER (*.py) and LIBRARY are data of the program.
# cmake -D FOLDER=... -D LIBRARY=... -D OUTPUT=... -P embed.cmake
file(GLOB_RECURSE modules RELATIVE ${FOLDER} ${FOLDER}/*.py)
list(SORT modules)
set(assembler "")
set(symbols "")
set(rows "")
set(number 0)
macro(embed name path)
  string(APPEND assembler
    "asm(\".section .rodata\\n\"\n"
    "    \"loaderscope_file_${number}: .incbin \\\"${path}\\\"\\n\"\n"
    "    \"loaderscope_file_${number}_end:\\n\"\n"
    "    \".previous\\n\");\n")
  string(APPEND symbols
    "extern \"C\" const char loaderscope_file_${number}[], loaderscope_file_${number}_end[];\n")
  string(APPEND rows
    "      {\"${name}\", text(loaderscope_file_${number}, loaderscope_file_${number}_end)},\n")
  math(EXPR number "${number} + 1")
endmacro()
foreach(module ${modules})
  embed(python/${module} ${FOLDER}/${module})
endforeach()
embed(libloaderscope_guest.so ${LIBRARY})
file(WRITE ${OUTPUT} "// Made by src/embed.cmake.
#include \"guest/host/guest_files.h\"

${assembler}
${symbols}
namespace loaderscope::guest {
namespace {

std::string_view text(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

std::span<const EmbeddedFile> embedded_files() {
  static const EmbeddedFile files[] = {
${rows}  };
  return files;
}

}  // namespace loaderscope::guest
")
