declare module "*.dockerfile" {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: text imports have a default export
  export default text;
}
