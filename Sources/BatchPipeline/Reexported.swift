@_exported import enum BatchEngine.EngineKind
// What jobs are made of.
@_exported import Jobs
