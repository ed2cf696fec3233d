declare module "*.md" {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: it is what an import of a text file is
  export default text;
}
