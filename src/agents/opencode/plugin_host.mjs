// A host for the plugin, for its tests: what OpenCode 1.18 does, as measured. It calls every
// plugin's handlers one after the other with the same objects, reads only what was changed in
// place, and takes an error in `tool.execute.before` for "no".
import { readFileSync } from "node:fs"

const [scenario, fixtures] = process.argv.slice(2)
const here = new URL(".", import.meta.url)
const load = (name) => JSON.parse(readFileSync(`${fixtures}/${name}.json`, "utf8"))
const say = (text) => process.stdout.write(`${text}\n`)

const directory = process.cwd()
const plugins = []
const copies = scenario === "twice" ? 2 : 1
for (let copy = 0; copy < copies; copy++) {
  const exported = await import(new URL(`plugin.mjs?${copy}`, here))
  for (const plugin of Object.values(exported)) {
    if (typeof plugin !== "function") throw new Error("OpenCode would drop the plugin")
    plugins.push(await plugin({ directory, worktree: directory }))
  }
}

async function trigger(name, input, output) {
  try {
    for (const plugin of plugins) await plugin[name]?.(input, output)
    return true
  } catch (error) {
    say(`${name} threw: ${error.message}`)
    return false
  }
}

const text = (text) => ({ type: "text", text })
const prompt = (sessionID, ...parts) =>
  trigger("chat.message", { sessionID }, { message: { id: "msg", sessionID }, parts })

// One turn of a session, with the captured objects.
async function turn() {
  for (const plugin of plugins) await plugin.event?.({ event: load("event.session.created").input })
  const message = load("chat.message")
  await trigger("chat.message", message.input, message.output)
  say(`    prompt: ${JSON.stringify(message.output.parts.map((part) => part.text))}`)
  const before = load("tool.execute.before")
  const { args } = before.output
  if (!(await trigger("tool.execute.before", before.input, before.output))) return
  say(`    args: ${JSON.stringify(args)}`)
  const after = load("tool.execute.after")
  await trigger("tool.execute.after", after.input, after.output)
  say(`    result: ${JSON.stringify(after.output.output)}`)
}

// A tool of the server `my.db`.
async function server() {
  for (const plugin of plugins) await plugin.config?.({ mcp: { my: {}, "my.db": {} } })
  const call = { tool: "my_db_run", sessionID: "ses", callID: "call" }
  await trigger("tool.execute.before", call, { args: {} })
  const result = { content: [text("pong")] }
  const { content } = result
  await trigger("tool.execute.after", { ...call, args: {} }, result)
  say(`content: ${JSON.stringify(content)}`)
}

async function sessions() {
  const created = { type: "session.created", properties: { info: { id: "sub", parentID: "one" } } }
  for (const session of ["one", "one", "two", "sub"]) {
    if (session === "sub") for (const plugin of plugins) await plugin.event?.({ event: created })
    const part = text("hi")
    await prompt(session, part)
    say(JSON.stringify(part.text))
  }
}

async function blocked() {
  const first = [{ type: "file", url: "data:," }, text("read this"), text("hi")]
  for (const parts of [first, [text("hi")]]) {
    await trigger("chat.message", { sessionID: "ses" }, { message: { id: "msg" }, parts })
    say(`parts: ${JSON.stringify(parts)}`)
  }
}

async function picture() {
  const parts = [{ type: "file", url: "data:," }]
  await trigger("chat.message", { sessionID: "ses" }, { message: { id: "msg" }, parts })
  const [file, added] = parts
  say(file.type)
  const { type, id, sessionID, messageID } = added
  say([type, id.slice(0, 4), sessionID, messageID, JSON.stringify(added.text)].join(" "))
}

await { turn, twice: turn, server, sessions, blocked, picture }[scenario]()
