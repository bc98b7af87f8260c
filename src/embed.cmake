# Writes OUTPUT, a .cpp in which the files of FOLDER that match PATTERN, named with PREFIX in front, and LIBRARY, if any, are
# data of the program. FUNCTION, which HEADER declares in NAMESPACE, gives them.
# cmake -D FOLDER=... -D PATTERN=... -D PREFIX=... -D LIBRARY=... -D HEADER=... -D NAMESPACE=... -D FUNCTION=... -D OUTPUT=... -P embed.cmake
file(GLOB_RECURSE names RELATIVE ${FOLDER} ${FOLDER}/${PATTERN})
list(SORT names)
set(assembler "")
set(symbols "")
set(rows "")
set(number 0)
macro(embed name path)
  # Known outside its file: where all files are optimised as one, the assembler gets them apart.
  set(symbol loaderscope_${FUNCTION}_${number})
  string(APPEND assembler
    "asm(\".section .rodata\\n\"\n"
    "    \".globl ${symbol}, ${symbol}_end\\n\"\n"
    "    \".hidden ${symbol}, ${symbol}_end\\n\"\n"
    "    \"${symbol}: .incbin \\\"${path}\\\"\\n\"\n"
    "    \"${symbol}_end:\\n\"\n"
    "    \".previous\\n\");\n")
  string(APPEND symbols
    "extern \"C\" const char ${symbol}[], ${symbol}_end[];\n")
  file(SHA256 ${path} digest)
  string(APPEND rows
    "      {\"${name}\", text(${symbol}, ${symbol}_end),\n       \"${digest}\"},\n")
  math(EXPR number "${number} + 1")
endmacro()
foreach(name ${names})
  embed(${PREFIX}${name} ${FOLDER}/${name})
endforeach()
if(LIBRARY)
  get_filename_component(name ${LIBRARY} NAME)
  embed(${name} ${LIBRARY})
endif()
file(WRITE ${OUTPUT} "// Made by src/embed.cmake.
#include \"${HEADER}\"

${assembler}
${symbols}
namespace ${NAMESPACE} {
namespace {

std::string_view text(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

std::span<const EmbeddedFile> ${FUNCTION}() {
  static const EmbeddedFile files[] = {
${rows}  };
  return files;
}

}  // namespace ${NAMESPACE}
")
