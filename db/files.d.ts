/** `import path from "…" with { type: "file" }`: the file's path, both in the source tree and inside a binary. */
declare module "*.data" {
  const path: string;
  // biome-ignore lint/style/noDefaultExport: Bun gives a file import as the default export
  export default path;
}
declare module "*.wasm" {
  const path: string;
  // biome-ignore lint/style/noDefaultExport: Bun gives a file import as the default export
  export default path;
}
