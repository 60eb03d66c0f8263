// What the sources use of Foundation and of the C library. Of Foundation only its essential part: the rest brings 40 MB
// of ICU along. On macOS it is part of the system.
#if canImport(Darwin)
    @_exported import Foundation
#else
    @_exported import FoundationEssentials
    #if canImport(Glibc)
        @_exported import Glibc
    #elseif canImport(Musl)
        @_exported import Musl
    #endif
#endif
