import type { ComponentChildren, ComponentType } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { lostConnectionProblem } from '../app/api.js';
import { connection } from '../app/live.js';
import { ProblemView } from './form.js';

/** A part of the script that is loaded when it is first shown, with what is shown until then. */
export function later<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  until: () => ComponentChildren = () => null,
): ComponentType<Props> {
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
    // When the registry is back. The session and what was typed are kept.
    const wasAway = useRef(false);
    useEffect(() => {
      wasAway.current ||= isLost && connection.value === 'lost';
      if (wasAway.current && connection.value === 'live') location.reload();
    }, [isLost, connection.value]);
    if (Loaded !== undefined) return <Loaded {...props} />;
    // A browser does not load a module again that it could not load once.
    return isLost ? <ProblemView problem={lostConnectionProblem} onRetry={() => location.reload()} /> : <>{until()}</>;
  };
}
