declare module "*/sample/script.js" {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: Bun gives a text import as the default export
  export default text;
}
