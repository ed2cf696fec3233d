import { VERSION } from "../../src/contract/version.ts";
import type { Handler } from "../spec.ts";
import type * as tools from "../table/tools.ts";

export const version: Handler<typeof tools.version> = async ({ out }) => {
  const platform = `${process.platform}-${process.arch}`;
  await out.result({ version: VERSION, platform, runtime: `bun ${Bun.version}` }, () => `${VERSION}\n`);
};
