-- Sends the request bodies of a file, one after the other, and counts what comes back.
--
--   wrk -t1 ... -s serve_load.lua URL -- PATH FILE AGAIN PAUSE MARK
--
-- FILE has for each body its length in bytes on a line, then the body. At the end of the file it
-- begins again if AGAIN is "again"; a load that must not repeat itself is counted as `repeated`.
-- PAUSE is the mean of the milliseconds that a connection waits before its next request, 0 for
-- none. An answer that contains MARK is counted as `marked`.

local threads = {}

function setup(thread)
  table.insert(threads, thread)
end

local path, file, again, pause, mark
repeated, marked, statuses = 0, 0, ""
local seen = {}

function init(args)
  path, again, mark = args[1], args[3] == "again", args[5]
  file = assert(io.open(args[2], "rb"))
  pause = tonumber(args[4])
  if pause == 0 then
    delay = nil
  end
end

local function next_body()
  local length = file:read("*l")
  if not length then
    file:seek("set", 0)
    if not again then
      repeated = repeated + 1
    end
    length = assert(file:read("*l"), "the file of bodies is empty")
  end
  return assert(file:read(tonumber(length)))
end

function request()
  local body = next_body()
  return "POST " .. path .. " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    .. "Content-Length: " .. #body .. "\r\n\r\n" .. body
end

-- From half of the pause to one and a half, so that connections do not move in step.
function delay()
  return math.floor(pause * (0.5 + math.random()) + 0.5)
end

function response(status, headers, body)
  if status ~= 200 then
    seen[status] = (seen[status] or 0) + 1
    local said = {}
    for each, count in pairs(seen) do
      table.insert(said, string.format('"%d": %d', each, count))
    end
    statuses = table.concat(said, ", ")
  elseif mark ~= "" and string.find(body, mark, 1, true) then
    marked = marked + 1
  end
end

function done(summary, latency, requests)
  local repeats, marks, others = 0, 0, {}
  for _, thread in ipairs(threads) do
    repeats = repeats + thread:get("repeated")
    marks = marks + thread:get("marked")
    if thread:get("statuses") ~= "" then
      table.insert(others, thread:get("statuses"))
    end
  end
  local errors = summary.errors
  io.write(string.format(
    '{"requests": %d, "seconds": %.6f, "p50_milliseconds": %.3f, "p90_milliseconds": %.3f, '
      .. '"p99_milliseconds": %.3f, "max_milliseconds": %.3f, "marked": %d, "repeated": %d, '
      .. '"statuses": {%s}, "failed_connections": %d, "timeouts": %d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3,
    latency:percentile(90) / 1e3, latency:percentile(99) / 1e3, latency.max / 1e3, marks, repeats,
    table.concat(others, ", "), errors.connect + errors.read + errors.write, errors.timeout))
end
