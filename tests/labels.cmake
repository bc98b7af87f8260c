# Labels of the tests of the real program, by which a call leaves tests out. `scripts/test` leaves out `torch`, `browser` and `packages`: they need
# more than it installs. The sanitizers leave out `torch` and `unsanitized`, which a sanitizer would change; the thread
# sanitizer also `unthreaded`, which has no threads to look at.

# Filters of GoogleTest, each with the labels of its tests, which are one word with dots: gtest_discover_tests takes no list.
# A test belongs to the first group that fits.
set(LOADERSCOPE_GROUPS torch browser python_and_mpi packages hosts unthreaded)
set(tests_torch "*Torch*")
set(labels_torch torch)
set(tests_browser "*InABrowser*")
set(labels_browser browser.unthreaded)
set(tests_python_and_mpi "PySpy.*:Launchers/Mpi.*")
set(labels_python_and_mpi packages.unthreaded)
set(tests_packages "ServersCli.*:WebServerCli.*:FormatsCli.*:Formats/*:MpiLibrary.*:*PerfettoFile.*")
set(labels_packages packages)
# Jobs over hosts are judged by how fast each is, and so are commits of a loader in Python. A process whose threads the
# kernel holds has an end that is none for a sanitizer. scripts/gpu-check is driven with pretend programs, none of them sanitized.
set(tests_hosts "CompareLoaders.*:DefaultAnswer.*:*GuidePage*:HungStore.*:SlowHosts.*:*GpuCheck*")
set(labels_hosts unsanitized)
set(tests_unthreaded "Table/Pipelines.*:Report.*:Replace.*:Names.*:BrokenOff.*:Streams.*:Run.*")
string(APPEND tests_unthreaded ":TuneCommand.*:SweepCommand.*:SweepAndTune.*:HangUp.EndsSweepAndTune*")
set(labels_unthreaded unthreaded)

# Tests of the program NAME, which all have LABEL too.
function(loaderscope_discover_groups name label environment)
  set(before "")
  foreach(group ${LOADERSCOPE_GROUPS})
    loaderscope_discover(${name} ${label}.${labels_${group}} "${environment}" "${tests_${group}}-${before}")
    string(APPEND before ":${tests_${group}}")
  endforeach()
  loaderscope_discover(${name} ${label} "${environment}" "*-${before}")
endfunction()

function(loaderscope_discover name label environment filter)
  gtest_discover_tests(${name}
    TEST_FILTER "${filter}" DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 300
    PROPERTIES ENVIRONMENT ${environment} LABELS ${label} TIMEOUT 300)
endfunction()
