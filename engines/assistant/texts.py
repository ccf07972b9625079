"""Fixed texts, verbatim (decisions.md, "Fixed texts"; seed 001; seed 003)."""

from engines.sop.asking import SUSPENDED as SUSPENDED

BUDGET = "抱歉,这个问题比较复杂,请尝试更具体的描述。"
FUSE = "抱歉,我遇到了一些技术问题,无法获取相关信息。请稍后重试或联系管理员。"
ITERATIONS = "抱歉,我无法在有限步骤内完成这个查询。请尝试更具体的问题。"
FAILED = "处理失败,请稍后重试或联系管理员(编号 {number})"
DONE = "已完成 / 结果:"
TO_CONFIRM = "需要确认 / 引导操作:"
REPEATED = "同样的调用已经执行过,请换一种方式,或直接根据已有信息回答。"
NOT_YET = 'say 要单独调用,写 {"say": [{"op", "of", "to", "show", "end"}]},of 只写已读到的编号。'
