import manifest from "../../package.json" with { type: "json" };

/** The version of the tree that every executable was built from. */
export const VERSION: string = manifest.version;
