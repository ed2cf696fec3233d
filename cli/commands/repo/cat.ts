import type { FileContents } from "../../../src/contract/repository.ts";
import { path } from "../../api.ts";
import type { Handler } from "../../spec.ts";
import type * as tables from "../../table/repo.ts";
import { lines } from "../../text.ts";
import { wholeLines } from "../../whole-lines.ts";

export const cat: Handler<typeof tables.cat> = async (context, { args, flags }) => {
  const { out, system } = context;
  const { id } = await context.project();
  const api = await context.api();
  const call = {
    path: path`/projects/${id}/contents`,
    query: { ref: flags.ref, path: args.path },
    slow: true,
  };
  if (out.data.json) return out.result(await api.call<FileContents>(call), () => "");
  const file = await api.open({ ...call, accept: "application/octet-stream" });
  if (system.stdout.isTTY) {
    for await (const text of wholeLines(file.stream())) await system.stdout.write(lines(text));
    return;
  }
  for await (const chunk of file.stream()) await system.stdout.write(chunk);
};
