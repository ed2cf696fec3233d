import { ShownOnce } from "../../parts/shown-once.tsx";

interface Props {
  secret: string;
  /** What was done, as a sentence. */
  done: string;
  onClose: () => void;
}

/** The secret with which a webhook signs. */
export function NewSecret({ secret, done, onClose }: Props) {
  const said = `${done} Copy its secret now: it is not shown again. The receiver verifies the signatures of deliveries with it.`;
  return <ShownOnce said={said} copy="Copy the secret" secret={secret} onClose={onClose} />;
}
