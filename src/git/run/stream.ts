import { within } from "../../lib/within.ts";
import type { Runner, StreamRequest } from "./run.ts";

/** Starts git and streams its standard output. */
export function streamRun(runner: Runner, request: StreamRequest): ReturnType<Runner["stream"]> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>({}, undefined, {
    highWaterMark: 0,
  });
  const writer = writable.getWriter();
  const ended = runner.run({
    ...request,
    onStdout: async (chunk) => {
      const late = () => new Error("the output was not read in time");
      return await within(writer.write(chunk), request.stallMs, late).then(
        () => true,
        () => false,
      );
    },
  });
  ended
    .then(
      (result) => (result.code === null ? writer.abort(new Error("git was stopped")) : writer.close()),
      (error: unknown) => writer.abort(error),
    )
    .catch(() => {});
  return { stdout: readable, ended };
}
