import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/** Loads a component at its first use; null until then. */
export function useLazy<Props>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> | null {
  const [Loaded, setLoaded] = useState<ComponentType<Props> | null>(null);
  useEffect(() => void load().then((component) => setLoaded(() => component)), []);
  return Loaded;
}
