# The portable build against an older glibc. The objects are those of any build: only what the linker takes is older. It
# finds the start-up code and the symbols of glibc 2.28 before those of this machine, so that the program asks for no newer
# version of a symbol. src/older_glibc.cpp adds the few functions that the C++ library wants and glibc 2.28 lacks.
set(LOADERSCOPE_OLDER_GLIBC "" CACHE PATH "What scripts/packaging/older-glibc prints: its symbols are linked")
set(LOADERSCOPE_STATIC_LIBRARIES "" CACHE PATH "What scripts/packaging/static-libraries prints: libraries without a static form")

if(LOADERSCOPE_STATIC_LIBRARIES)
  # Any configuration finds the archive. The headers stay those of the package.
  foreach(library fmt hwy)
    set_target_properties(${library}::${library} PROPERTIES
      IMPORTED_CONFIGURATIONS RELEASE
      IMPORTED_LOCATION_RELEASE ${LOADERSCOPE_STATIC_LIBRARIES}/lib${library}.a
      IMPORTED_SONAME_RELEASE "")
  endforeach()
  list(PREPEND CMAKE_LIBRARY_PATH ${LOADERSCOPE_STATIC_LIBRARIES})
  if(CMAKE_CROSSCOMPILING)
    list(APPEND CMAKE_FIND_ROOT_PATH ${LOADERSCOPE_STATIC_LIBRARIES})  # libraries are searched in such folders alone
  endif()
  set(CMAKE_SKIP_BUILD_RPATH ON)  # their folder is on this machine alone
  set(ZLIB_USE_STATIC_LIBS ON)
endif()

if(LOADERSCOPE_OLDER_GLIBC)
  add_library(loaderscope_older_glibc OBJECT src/older_glibc.cpp)
  set_target_properties(loaderscope_older_glibc PROPERTIES POSITION_INDEPENDENT_CODE ON)
endif()

# loaderscope_look_up_variables(TARGET): for code that reads environ. A program takes a copy of a variable of glibc, and glibc
# then uses the copy by each of the variable's names. The linker does not know that these are one variable, as it sees no
# real glibc. Position-independent code looks the variable up. scripts/check-package refuses such copies.
function(loaderscope_look_up_variables target)
  if(LOADERSCOPE_OLDER_GLIBC)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  endif()
endfunction()

# loaderscope_link_older_glibc(TARGET...): does nothing in a build against this machine's glibc.
function(loaderscope_link_older_glibc)
  foreach(target ${ARGN})
    if(LOADERSCOPE_OLDER_GLIBC AND TARGET ${target})
      target_link_options(${target} PRIVATE -B${LOADERSCOPE_OLDER_GLIBC} -L${LOADERSCOPE_OLDER_GLIBC}
        -static-libstdc++ -static-libgcc)
      target_link_libraries(${target} PRIVATE $<TARGET_OBJECTS:loaderscope_older_glibc> ${CMAKE_DL_LIBS})
      add_dependencies(${target} loaderscope_older_glibc)
    endif()
  endforeach()
endfunction()
