// The forms of the API reference. The token stays in its field: nothing stores it.
const token = document.querySelector('#token-field');
const maxCharacters = 200_000;
const longestStreamMs = 3_000;

for (const element of document.querySelectorAll('.try, #token-form')) element.hidden = false;

// Where a browser does not open what a link leads into.
function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const folded = target?.closest('details');
  if (!folded) return;
  folded.open = true;
  target.scrollIntoView();
}
addEventListener('hashchange', openTarget);
openTarget();

const tokenText = () => token.value.trim().replace(/^Bearer\s+/i, '');

/** Whom the token speaks for, so that a person notices the wrong one. The registry verifies it, not this page. */
function describe(text) {
  if (text === '') return '';
  try {
    const part = text.split('.')[1].replaceAll('-', '+').replaceAll('_', '/');
    const claims = JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(part), (byte) => byte.charCodeAt(0))));
    const until = new Date(claims.exp * 1000);
    const ends = until < new Date() ? 'It has expired.' : `It expires at ${until.toLocaleTimeString()}.`;
    return `Client ${claims.client_id ?? claims.sub}, scope ${claims.scope}. ${ends}`;
  } catch {
    return 'This is not a JWT. The requests send it as it is.';
  }
}
token.addEventListener('input', () => {
  document.querySelector('#token-claims').textContent = describe(tokenText());
});

function requestOf(form, authorization) {
  let path = form.dataset.path;
  const query = new URLSearchParams();
  const headers = {};
  for (const { value, dataset } of form.querySelectorAll('[data-in]')) {
    if (value === '') continue;
    if (dataset.in === 'path') path = path.replace(`{${dataset.name}}`, encodeURIComponent(value));
    else if (dataset.in === 'query') query.append(dataset.name, value);
    else headers[dataset.name] = value;
  }
  if (authorization !== '') headers.Authorization = `Bearer ${authorization}`;
  const field = form.querySelector('[data-body]');
  const body = field?.value || undefined;
  if (body !== undefined) headers['Content-Type'] = field.dataset.type;
  // Relative to this page, because a proxy may have put a path in front.
  const url = new URL(path, document.baseURI);
  url.search = query;
  return { url, method: form.dataset.method, headers, body };
}

/** A stream of events does not end, so what came in the first seconds is shown. */
async function readText(response) {
  if (!response.body) return '';
  const reader = response.body.getReader();
  const isStream = response.headers.get('Content-Type')?.startsWith('text/event-stream');
  if (isStream) setTimeout(() => reader.cancel(), longestStreamMs);
  const decoder = new TextDecoder();
  let text = '';
  while (text.length < maxCharacters) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += decoder.decode(value, { stream: true });
  }
  await reader.cancel();
  return `${text}\n… (there is more)`;
}

function indented(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function show(form, status, text) {
  const output = form.querySelector('.output');
  form.querySelector('[role=status]').textContent = status;
  output.textContent = text;
  output.hidden = text === '';
}

async function send(form) {
  const { url, ...request } = requestOf(form, tokenText());
  const from = performance.now();
  show(form, 'Sending…', '');
  try {
    const response = await fetch(url, request);
    const text = indented(await readText(response));
    const headers = [...response.headers].map(([name, value]) => `${name}: ${value}\n`).join('');
    const took = Math.round(performance.now() - from);
    show(form, `${response.status} ${response.statusText}, ${took} ms`, `${headers}\n${text}`);
  } catch (error) {
    show(form, `The request failed: ${error.message}`, '');
  }
}

/** The command has a variable instead of the token, so that it can be passed on. */
async function copyAsCurl(form) {
  const { url, method, headers, body } = requestOf(form, tokenText() === '' ? '' : '$TOKEN');
  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  const parts = [`curl -i -X ${method} ${quoted(url.href)}`];
  for (const [name, value] of Object.entries(headers)) {
    parts.push(`-H ${name === 'Authorization' ? `"${name}: ${value}"` : quoted(`${name}: ${value}`)}`);
  }
  if (body !== undefined) parts.push(`--data-binary ${quoted(body)}`);
  const command = parts.join(' \\\n  ');
  const isCopied = await navigator.clipboard?.writeText(command).then(
    () => true,
    () => false,
  );
  show(form, isCopied ? 'Copied.' : 'Select and copy this command.', command);
}

document.addEventListener('submit', (event) => {
  event.preventDefault();
  if (event.target.dataset.path) void send(event.target);
});
document.addEventListener('click', ({ target }) => {
  if (target.matches('[data-curl]')) void copyAsCurl(target.form);
});
document.addEventListener('change', ({ target }) => {
  if (!target.dataset.fills) return;
  const field = document.getElementById(target.dataset.fills);
  field.value = target.value;
  field.dataset.type = target.selectedOptions[0].dataset.type;
});
