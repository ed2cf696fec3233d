import { runToEnd } from "../process/run-to-end.ts";
import { type AppContext, AppError, appEnvironment, rootOf } from "./context.ts";

/** A large build takes minutes; one that hangs is ended. */
const BUILD_MS = 30 * 60_000;

/** Runs the app's build command to its end. @throws AppError when it fails or takes too long */
export async function build(
  context: AppContext,
  signal: AbortSignal,
  { buildMs = BUILD_MS }: { buildMs?: number } = {},
): Promise<void> {
  const { app, log } = context;
  if (app.build === null) return;
  const begun = performance.now();
  const { exitCode, signalCode, isLate } = await runToEnd(
    context,
    {
      command: app.build,
      environment: appEnvironment(context, "build"),
      directory: rootOf(context),
      limitMs: buildMs,
      log: log.build,
      name: "the build",
    },
    signal,
  );
  if (signal.aborted) return;
  if (isLate) throw new AppError("build", `The build took longer than ${buildMs / 60_000} minutes.`);
  if (signalCode) throw new AppError("build", `The build was ended by ${signalCode}.`);
  if (exitCode !== 0) throw new AppError("build", `The build failed with exit status ${exitCode}.`);
  log.info(`built in ${((performance.now() - begun) / 1000).toFixed(1)} s`);
}
