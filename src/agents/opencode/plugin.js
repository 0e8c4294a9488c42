// Written by Symposium, which replaces this file as a whole.
//
// OpenCode runs no commands at its events, only plugins. This one hands an event to the program
// `cargo-agents hook opencode <event>` as one JSON object on standard input, and does what the JSON
// object on its standard output says:
//   deny     text: the tool is not used, and the model reads the text
//   args     object: the tool's whole input
//   replace  text: stands in the place of the prompt, or of the tool's result
//   context  text: added for the model
// No such program, a failure, no answer in time, anything but JSON: the turn goes on as if nothing
// had been asked. A plugin that exports anything but functions is dropped by OpenCode.
import { spawn } from "node:child_process"

const PROGRAM = "__PROGRAM__"
const LIMIT_MS = 30_000
const GRACE_MS = 500
const OUTPUT_LIMIT = 1_000_000
const PENDING_LIMIT = 500

// At user and project scope at once the plugin is loaded twice, and each event is shown to both
// with the same objects: the first one acts.
const HANDLED = Symbol.for("symposium.opencode.handled")
const handled = (globalThis[HANDLED] ??= {
  before: new WeakSet(),
  after: new WeakSet(),
  message: new WeakSet(),
})

// Sessions that have started; sessions of sub-agents, which no user speaks in.
const started = new Set()
const children = new Set()
// Context that waits: of a tool's use for its result, of a session for its next prompt.
const pending = new Map()

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value)
const words = (value) => (typeof value === "string" && value.trim() ? value : "")
const wrapped = (context) => `\n\n<hook_context>\n${context}\n</hook_context>`

function first(kind, output) {
  if (handled[kind].has(output)) return false
  handled[kind].add(output)
  return true
}

function keep(key, context) {
  if (!context) return
  pending.set(key, [pending.get(key), context].filter(Boolean).join("\n\n"))
  // A tool that fails has no result to take its context along.
  if (pending.size > PENDING_LIMIT) pending.delete(pending.keys().next().value)
}

function take(key) {
  const context = pending.get(key) ?? ""
  pending.delete(key)
  return context
}

function parse(text) {
  try {
    const answer = JSON.parse(text)
    return isObject(answer) ? answer : {}
  } catch {
    return {}
  }
}

// Never rejects.
function ask(event, cwd, payload) {
  return new Promise((resolve) => {
    let child, limit, grace
    let out = ""
    let over = false
    const finish = (code) => {
      if (over) return
      over = true
      clearTimeout(limit)
      clearTimeout(grace)
      try {
        child?.stdout?.destroy()
      } catch {}
      resolve(code === 0 ? parse(out) : {})
    }
    const kill = () => {
      try {
        child?.kill("SIGKILL")
      } catch {}
      finish(null)
    }
    try {
      const text = JSON.stringify({ hook_event_name: event, cwd, ...payload })
      limit = setTimeout(kill, LIMIT_MS)
      child = spawn(PROGRAM, ["hook", "opencode", event], {
        cwd,
        stdio: ["pipe", "pipe", "ignore"],
        windowsHide: true,
      })
      child.on("error", () => finish(null))
      child.on("close", finish)
      // What the program left running may hold the pipe open.
      child.on("exit", (code) => {
        grace = setTimeout(finish, GRACE_MS, code)
      })
      child.stdout.setEncoding("utf8")
      child.stdout.on("error", () => {})
      child.stdout.on("data", (chunk) => {
        if (out.length <= OUTPUT_LIMIT) out += chunk
      })
      child.stdin.on("error", () => {})
      child.stdin.end(text)
    } catch {
      kill()
    }
  })
}

// The server and the tool of a server's tool, `<server>_<tool>`, which only the configured servers'
// names tell apart. OpenCode writes `_` for what else their names hold.
function serverOf(tool, servers) {
  let found
  for (const server of servers) {
    const prefix = server.replace(/[^a-zA-Z0-9_-]/g, "_") + "_"
    if (!tool.startsWith(prefix) || tool.length === prefix.length) continue
    if (!found || prefix.length > found.prefix.length) found = { prefix, server }
  }
  return found && { server: found.server, tool: tool.slice(found.prefix.length) }
}

function textPart(input, output, text) {
  const random = Math.random().toString(36).slice(2, 12)
  return {
    id: `prt_${Date.now().toString(16)}${random}`,
    sessionID: input.sessionID,
    messageID: output.message?.id,
    type: "text",
    text,
    synthetic: true,
  }
}

async function message(input, output, directory) {
  const { parts } = output
  const session = input.sessionID
  const texts = parts.filter((part) => part?.type === "text" && typeof part.text === "string")
  const written = texts.filter((part) => !part.synthetic && !part.ignored)
  const target = written.at(-1) ?? texts.at(-1)
  // `session.created` waits for nobody and is not sent for a resumed session.
  if (!started.has(session)) {
    started.add(session)
    const answer = await ask("session-start", directory, { session_id: session })
    keep(session, words(answer.context))
  }
  const prompt = written.map((part) => part.text).join("\n")
  const answer = await ask("user-prompt-submit", directory, { session_id: session, prompt })
  const replace = words(answer.replace)
  if (replace) {
    // An error here would end the turn with "unknown error", so the prompt is replaced. Its texts
    // are emptied too, should the list be a copy.
    for (const part of texts) part.text = ""
    const only = target ?? textPart(input, output, replace)
    only.text = replace
    parts.splice(0, parts.length, only)
    return
  }
  const context = [take(session), words(answer.context)].filter(Boolean).join("\n\n")
  if (!context) return
  if (target) target.text += wrapped(context)
  else parts.push(textPart(input, output, wrapped(context).trim()))
}

async function before(input, output, directory, servers) {
  const answer = await ask("pre-tool-use", directory, {
    session_id: input.sessionID,
    tool_name: input.tool,
    tool_input: output.args,
    tool_use_id: input.callID,
    mcp: serverOf(input.tool, servers),
  })
  const deny = words(answer.deny)
  if (deny) return deny
  // In place: OpenCode does not look at another object.
  if (isObject(answer.args) && isObject(output.args)) {
    for (const key of Object.keys(output.args)) delete output.args[key]
    Object.assign(output.args, answer.args)
  }
  keep(`${input.sessionID}/${input.callID}`, words(answer.context))
  return ""
}

async function after(input, output, directory, servers) {
  // A server's result is a list of parts, any other a text.
  const list = Array.isArray(output.content) ? output.content : undefined
  const { title, metadata } = output
  const answer = await ask("post-tool-use", directory, {
    session_id: input.sessionID,
    tool_name: input.tool,
    tool_input: input.args,
    tool_response: list ?? { title, output: output.output, metadata },
    tool_use_id: input.callID,
    mcp: serverOf(input.tool, servers),
  })
  const replace = words(answer.replace)
  if (replace && list) list.splice(0, list.length, { type: "text", text: replace })
  else if (replace) {
    output.output = replace
    if (Array.isArray(output.attachments)) output.attachments.length = 0
  }
  const early = take(`${input.sessionID}/${input.callID}`)
  const context = [early, words(answer.context)].filter(Boolean).join("\n\n")
  if (!context) return
  if (list) list.push({ type: "text", text: wrapped(context).trim() })
  else output.output = `${output.output ?? ""}${wrapped(context)}`
}

export const Symposium = async (host) => {
  const directory = host?.directory
  let servers = []
  return {
    config: async (config) => {
      servers = Object.keys(config?.mcp ?? {})
    },
    event: async (input) => {
      const { type, properties } = input?.event ?? {}
      const info = properties?.info
      if (type === "session.created" && info?.parentID) children.add(info.id)
    },
    "chat.message": async (input, output) => {
      try {
        if (children.has(input.sessionID) || !first("message", output)) return
        await message(input, output, directory)
      } catch {}
    },
    "tool.execute.before": async (input, output) => {
      let deny = ""
      try {
        if (first("before", output)) deny = await before(input, output, directory, servers)
      } catch {}
      if (deny) throw new Error(deny)
    },
    "tool.execute.after": async (input, output) => {
      try {
        if (first("after", output)) await after(input, output, directory, servers)
      } catch {}
    },
  }
}
