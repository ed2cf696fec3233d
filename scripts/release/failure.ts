/** A step of the release that failed. The message is a sentence for the person who makes the release. */
export class ReleaseBuildError extends Error {
  override readonly name = "ReleaseBuildError";
}
