// What jobs are made of.
@_exported import Jobs
