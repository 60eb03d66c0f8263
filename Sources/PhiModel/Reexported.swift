// Prompts and messages are part of what a model is asked.
@_exported import PhiText

@_exported import enum BatchEngine.EngineKind
@_exported import enum OperatingSystem.WeightCacheLocation
