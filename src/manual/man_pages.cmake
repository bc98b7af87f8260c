# The manual as man pages: loaderscope.1, and loaderscope-TOPIC.7 for each other topic; as Markdown where lowdown is missing.
find_program(LOADERSCOPE_LOWDOWN lowdown)
mark_as_advanced(LOADERSCOPE_LOWDOWN)
file(GLOB topics CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.md)
if(NOT LOADERSCOPE_LOWDOWN)
  message(STATUS "No man pages: lowdown is missing; scripts/install-deps man installs it. The manual is installed as Markdown.")
  install(FILES ${topics} DESTINATION ${CMAKE_INSTALL_DOCDIR}/manual)
  return()
endif()
set(pages)
foreach(topic ${topics})
  get_filename_component(name ${topic} NAME_WE)
  set(section 7)
  if(name STREQUAL PROJECT_NAME)
    set(section 1)
  else()
    string(PREPEND name ${PROJECT_NAME}-)
  endif()
  set(page ${PROJECT_BINARY_DIR}/man/${name}.${section})
  add_custom_command(OUTPUT ${page}
    COMMAND ${CMAKE_COMMAND} -D INPUT=${topic} -D NAME=${name} -D SECTION=${section}
      -D "SOURCE=${PROJECT_NAME} ${PROJECT_VERSION}" -D LOWDOWN=${LOADERSCOPE_LOWDOWN} -D OUTPUT=${page}
      -P ${CMAKE_CURRENT_LIST_DIR}/man_page.cmake
    DEPENDS ${topic} ${CMAKE_CURRENT_LIST_DIR}/man_page.cmake
    VERBATIM)
  list(APPEND pages ${page})
  install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
endforeach()
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/man)
add_custom_target(loaderscope_man ALL DEPENDS ${pages})
