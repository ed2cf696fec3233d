import { type ComponentType, useEffect, useState } from "react";
import { Loading } from "../parts/loading.tsx";

/** Pauses before a page's code is asked for again, in milliseconds. */
const PAUSES_MS = [250, 1_000];

interface Source<Props> {
  load(): Promise<ComponentType<Props>>;
  /** Once it is there. */
  page: ComponentType<Props> | null;
}

/**
 * A page whose code is loaded when it is first shown, and which is shown as soon as it is there: `lazy` and `Suspense` of
 * React 19 keep what stands for it for at least 300 ms. Browsers drop what they are loading when the machine's network
 * changes (another Wi-Fi, a VPN, a container): that is no reason to say that the page is broken.
 */
export function lazyPage<Props extends object>(load: () => Promise<ComponentType<Props>>) {
  const source: Source<Props> = { load, page: null };
  return (props: Props) => <Loaded source={source} props={props} />;
}

function Loaded<Props extends object>({ source, props }: { source: Source<Props>; props: Props }) {
  const [, setIsThere] = useState(source.page !== null);
  const [failure, setFailure] = useState<{ error: unknown } | null>(null);
  useEffect(() => {
    if (source.page !== null) return;
    patiently(source.load).then(
      (page) => {
        source.page = page;
        setIsThere(true);
      },
      (error: unknown) => setFailure({ error }),
    );
  }, [source]);
  if (failure) throw failure.error;
  const Page = source.page;
  return Page === null ? <Loading /> : <Page {...props} />;
}

async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (const pause of PAUSES_MS) {
    try {
      return await work();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
  return await work();
}
