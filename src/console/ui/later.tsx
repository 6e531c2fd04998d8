import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { lostConnectionProblem } from '../app/api.js';
import { ProblemView } from './form.js';

/** A part of a page whose script is loaded when it is first shown. */
export function later<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let Loaded: ComponentType<Props> | undefined;
  return function Later(props: Props) {
    const [, setIsLoaded] = useState(Loaded !== undefined);
    const [isLost, setIsLost] = useState(false);
    useEffect(() => {
      if (Loaded !== undefined) return;
      load().then(
        (found) => {
          Loaded = found;
          setIsLoaded(true);
        },
        () => setIsLost(true),
      );
    }, []);
    if (Loaded !== undefined) return <Loaded {...props} />;
    // A browser does not load a module again that it could not load once.
    return isLost ? <ProblemView problem={lostConnectionProblem} onRetry={() => location.reload()} /> : null;
  };
}
