// Prompts and messages are part of this module's API.
@_exported import PhiText

@_exported import enum BatchEngine.EngineKind
@_exported import enum BatchEngine.FinishReason
@_exported import enum BatchEngine.KVPrecision
@_exported import struct Errors.UserError
@_exported import enum OperatingSystem.WeightCacheLocation
