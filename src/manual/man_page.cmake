# Writes OUTPUT, the man page NAME of section SECTION, from the topic INPUT, by lowdown.
# cmake -D INPUT=... -D NAME=... -D SECTION=... -D SOURCE=... -D LOWDOWN=... -D OUTPUT=... -P man_page.cmake
file(READ ${INPUT} text)
# "# Title", an empty line, and the sentence that `man -k` finds.
if(NOT text MATCHES "^# [^\n]*\n\n([^\n]+)\n")
  message(FATAL_ERROR "${INPUT}: expected '# Title', an empty line and a sentence on one line.")
endif()
set(summary "${CMAKE_MATCH_1}")
# The summary is in NAME already. A label that begins a line begins a paragraph.
string(REGEX REPLACE "^(# [^\n]*)\n\n[^\n]+\n" "\\1\n" text "${text}")
foreach(label "Measured: " "Wrong when: ")
  string(REPLACE "\n${label}" "\n\n${label}" text "${text}")
endforeach()
file(WRITE ${OUTPUT}.md "# NAME\n\n${NAME} - ${summary}\n\n${text}")
execute_process(
  COMMAND ${LOWDOWN} -s -tman -Mtitle=${NAME} -Msection=${SECTION} -Msource=${SOURCE} -o ${OUTPUT} ${OUTPUT}.md
  COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE ${OUTPUT}.md)
