/**
 * The version of opencode that svc is built for. Nothing else in the tree names it: `runtime install`, the images, the
 * plugin packages that are laid into a sandbox, and the tests in CI read it here.
 */
export const RUNTIME_VERSION = "1.18.33";
