// What jobs are made of.
@_exported import Jobs

@_exported import enum BatchEngine.EngineKind
