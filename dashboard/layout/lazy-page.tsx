import { type ComponentType, useEffect, useState } from "react";
import { Loading } from "../parts/loading.tsx";

/** Delays before the code of a page is requested again, in milliseconds. */
const RETRY_DELAYS_MS = [250, 1_000];

interface Source<Props> {
  load(): Promise<ComponentType<Props>>;
  /** null until it is loaded. */
  page: ComponentType<Props> | null;
}

/**
 * A page whose code is loaded when it is first shown. `lazy` and `Suspense` of React 19 show the fallback for at least
 * 300 ms; this does not. Loading is retried: browsers abort requests when the network of the machine changes (another
 * Wi-Fi, a VPN, a container).
 */
export function lazyPage<Props extends object>(load: () => Promise<ComponentType<Props>>) {
  const source: Source<Props> = { load, page: null };
  return (props: Props) => <Loaded source={source} props={props} />;
}

function Loaded<Props extends object>({ source, props }: { source: Source<Props>; props: Props }) {
  const [, setIsLoaded] = useState(source.page !== null);
  const [failure, setFailure] = useState<{ error: unknown } | null>(null);
  useEffect(() => {
    if (source.page !== null) return;
    withRetries(source.load).then(
      (page) => {
        source.page = page;
        setIsLoaded(true);
      },
      (error: unknown) => setFailure({ error }),
    );
  }, [source]);
  if (failure) throw failure.error;
  const Page = source.page;
  return Page === null ? <Loading /> : <Page {...props} />;
}

async function withRetries<T>(work: () => Promise<T>): Promise<T> {
  for (const delay of RETRY_DELAYS_MS) {
    try {
      return await work();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, delay));
    }
  }
  return await work();
}
