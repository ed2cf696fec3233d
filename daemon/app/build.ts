import { asAgent, signalGroup } from "../process/children.ts";
import { forEachLine } from "../process/lines.ts";
import { endDescendants } from "../process/tree.ts";
import { type AppContext, AppError, appEnvironment, rootOf } from "./context.ts";

/** A large build takes minutes; one that hangs is ended. */
const BUILD_MS = 30 * 60_000;
/** Lines of the build's output that are logged. */
const LINES_MAX = 20_000;

/** Runs the app's build command to its end. @throws AppError when it fails or takes too long */
export async function build(
  context: AppContext,
  signal: AbortSignal,
  { buildMs = BUILD_MS }: { buildMs?: number } = {},
): Promise<void> {
  const { settings, app, children, log } = context;
  if (app.build === null) return;
  const begun = performance.now();
  const child = children.start({
    ...asAgent(settings, ["sh", "-c", app.build]),
    environment: appEnvironment(context, "build"),
    directory: rootOf(context),
    isRuntime: true,
  });
  let lines = 0;
  const onLine = (line: string) => {
    lines++;
    if (lines <= LINES_MAX) log.build(line);
    if (lines === LINES_MAX) log.info(`the build printed ${LINES_MAX} lines; the rest is dropped`);
  };
  forEachLine(child.stdout, onLine);
  forEachLine(child.stderr, onLine);
  const late = AbortSignal.timeout(buildMs);
  const over = AbortSignal.any([signal, late]);
  const end = () => signalGroup(child.pid, "SIGKILL");
  over.addEventListener("abort", end);
  if (over.aborted) end();
  await child.exited;
  over.removeEventListener("abort", end);
  // processes that it left behind would run beside the app
  await endDescendants(process.pid, children.helpers);
  if (signal.aborted) return;
  if (late.aborted) throw new AppError("build", `The build took longer than ${buildMs / 60_000} minutes.`);
  if (child.signalCode) throw new AppError("build", `The build was ended by ${child.signalCode}.`);
  if (child.exitCode !== 0)
    throw new AppError("build", `The build failed with exit status ${child.exitCode}.`);
  log.info(`built in ${((performance.now() - begun) / 1000).toFixed(1)} s`);
}
