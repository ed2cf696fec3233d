import { catchSignals } from "../process/signals.ts";
import { LISTENING } from "../runtime/ready.ts";
import { Conversation } from "./conversation.ts";
import { prepareAgentHome } from "./home.ts";
import { prepareLogin } from "./login.ts";
import { serveRuntime } from "./serve.ts";
import { readAcpSettings } from "./settings.ts";
import { Turns } from "./turns.ts";

/**
 * `svc-agent acp`: an agent of the Agent Client Protocol in the place of the runtime. It is started by the daemon with the
 * runtime's arguments, answers on the runtime's port, and runs the agent as its child. Runs until a signal stops it.
 */
export async function runAcp(args: readonly string[]): Promise<void> {
  const signals = catchSignals(["SIGTERM", "SIGINT"]);
  const settings = readAcpSettings(args, process.env);
  prepareAgentHome(settings);
  if (settings.login) prepareLogin(settings.login.file, process.env[settings.login.variable]);
  const conversation = new Conversation(settings.journal);
  const turns = new Turns(conversation, settings, (line) => process.stderr.write(`${line}\n`));
  const stop = serveRuntime(settings, conversation, turns);
  turns.warmUp();
  process.stdout.write(`svc-agent acp${LISTENING}\n`);
  signals.forwardTo(() => {
    turns.stop();
    void stop().finally(() => process.exit(0));
  });
}
