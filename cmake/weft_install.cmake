# What `cmake --install` puts where: library, headers, tool, find_package(weft), pkg-config file.
include(CMakePackageConfigHelpers)

function(weft_install)
    install(TARGETS weft EXPORT weft-targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
    if(TARGET weft_tool)
        install(TARGETS weft_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    endif()
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/weft DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")

    set(package ${CMAKE_INSTALL_LIBDIR}/cmake/weft)
    install(EXPORT weft-targets NAMESPACE weft:: DESTINATION ${package})
    configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/weft-config.cmake.in
        ${PROJECT_BINARY_DIR}/generated/weft-config.cmake INSTALL_DESTINATION ${package}
        NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
    write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/weft-config-version.cmake
        COMPATIBILITY SameMinorVersion)
    # lib on most systems, lib/x86_64-linux-gnu for a prefix of /usr on Debian.
    file(RELATIVE_PATH weft_prefix_from_pc /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
    configure_file(${PROJECT_SOURCE_DIR}/cmake/weft.pc.in ${PROJECT_BINARY_DIR}/generated/weft.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/generated/weft-config.cmake
        ${PROJECT_BINARY_DIR}/generated/weft-config-version.cmake DESTINATION ${package})
    install(FILES ${PROJECT_BINARY_DIR}/generated/weft.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
