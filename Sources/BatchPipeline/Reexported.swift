// Jobs are part of this module's API.
@_exported import Jobs

@_exported import enum BatchEngine.EngineKind
@_exported import struct BatchEngine.EngineSettings
@_exported import enum BatchEngine.KVPrecision
