/// The version of phibatch.
package enum ProgramVersion {
    /// Major, minor, patch; 0 until the format of jobs and results is stable.
    package static let current = "0.9.0"
}
