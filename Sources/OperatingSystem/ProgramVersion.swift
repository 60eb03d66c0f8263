/// The version of phibatch.
package enum ProgramVersion {
    /// Major, minor, patch; 0 before the format of jobs and results is promised to stay.
    package static let current = "0.9.0"
}
