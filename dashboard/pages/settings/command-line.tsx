import { useInstallCommand } from "../../api/release.ts";
import { Command } from "../../parts/command.tsx";
import { Section } from "../../parts/section.tsx";

/** How to install the command line from this server, if it has a release, and sign it in. */
export function CommandLine() {
  const install = useInstallCommand();
  if (install === null) return null;
  return (
    <Section
      title="Command line"
      about="On Linux and macOS, without root. It comes from this server, and svc update gets later versions from here too."
    >
      <div className="flex flex-col gap-4">
        <div>
          <p className="mb-1">Install the CLI:</p>
          <Command>{install}</Command>
        </div>
        <div>
          <p className="mb-1">Sign it in:</p>
          <Command>{`svc login --api ${window.location.origin}/v1`}</Command>
        </div>
      </div>
    </Section>
  );
}
