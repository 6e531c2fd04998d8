// The command of the conformance kit for a sender that runs already: asks it to use one webhook, and waits until it has.
const [sender, url, events, instance] = process.argv.slice(2);
const response = await fetch(sender, { method: 'POST', body: JSON.stringify({ url, events, instance }) });
console.log(await response.text());
if (!response.ok) process.exitCode = 1;
