// The parts of Foundation and the C library that the sources use. On Linux only FoundationEssentials, as the rest of
// Foundation brings 40 MB of ICU.
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
