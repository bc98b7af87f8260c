# Run at build time by src/CMakeLists.txt: writes version.h, and leaves it alone when it is already right.
set(COMMIT unknown)
find_program(git git)
if(git AND EXISTS ${SOURCE_DIR}/.git)  # not the repository of somebody who unpacked us inside theirs
  execute_process(
    COMMAND ${git} --no-optional-locks -C ${SOURCE_DIR} describe --always --dirty --abbrev=12 --exclude=*
    OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
  if(status EQUAL 0)
    set(COMMIT ${described})
  endif()
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/version.h.in ${OUTPUT} @ONLY)
