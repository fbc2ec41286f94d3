package engine

import (
	"github.com/pages-toolchain/pages/runtime/engine/quickjspatch"
)

// fnID names an exported function of quickjs.wasm.
type fnID int

const (
	fnInitialize fnID = iota
	fnInit
	fnContext
	fnRuntime
	fnSetInterrupt
	fnSetRejection
	fnSetLoader
	fnSetMemoryLimit
	fnSetStackLimit
	fnNewHostFunction
	fnEvalModule
	fnMalloc
	fnFree
	fnCall
	fnConstruct
	fnFreeValue
	fnNewString
	fnToCString
	fnFreeCString
	fnToWideString
	fnFreeWideString
	fnNewObject
	fnNewArray
	fnSetStr
	fnSetIndex
	fnGetStr
	fnGetIndex
	fnGetLength
	fnNewUint8Array
	fnGetArrayBuffer
	fnGetTypedArrayBuffer
	fnTypedArrayType
	fnIsArrayBuffer
	fnIsDataView
	fnIsArray
	fnClassID
	fnIsProxy
	fnProxyTarget
	fnIsFunction
	fnGetException
	fnThrow
	fnRunJob
	fnNewPromise
	fnPromiseState
	fnPromiseResult
	fnParseJSON
	fnToFloat
	fnToBool
	fnGlobal
	fnRunGC
	fnSetGCThreshold
	fnPerformThen
	fnSettle
	fnDup
	fnEnqueueJob
	fnNewArrayBuffer
	fnDetachArrayBuffer
	fnNewBigInt64
	fnToBigInt64
	fnToInt32
	fnCompile
	fnEvalBytecode
	fnCount
)

// fnNames are their names in quickjs.wasm. JS_* functions take and return a JSValue as an i64; qjs_* ones a pointer to one.
var fnNames = [fnCount]string{
	fnInitialize:          "_initialize",
	fnInit:                "qjs_init",
	fnContext:             "qjs_get_context_ptr",
	fnRuntime:             "qjs_get_runtime_ptr",
	fnSetInterrupt:        "qjs_set_interrupt_handler",
	fnSetRejection:        "qjs_set_promise_rejection_handler",
	fnSetLoader:           "qjs_set_module_loader",
	fnSetMemoryLimit:      "qjs_set_memory_limit",
	fnSetStackLimit:       "qjs_set_max_stack_size",
	fnNewHostFunction:     "qjs_new_host_function",
	fnEvalModule:          "qjs_eval",
	fnMalloc:              "malloc",
	fnFree:                "free",
	fnCall:                "JS_Call",
	fnConstruct:           "JS_CallConstructor",
	fnFreeValue:           "JS_FreeValue",
	fnNewString:           "JS_NewStringLen",
	fnToCString:           "JS_ToCStringLen2",
	fnFreeCString:         "JS_FreeCString",
	fnToWideString:        "JS_ToCStringLenUTF16",
	fnFreeWideString:      "JS_FreeCStringUTF16",
	fnNewObject:           "JS_NewObject",
	fnNewArray:            "JS_NewArray",
	fnSetStr:              "JS_SetPropertyStr",
	fnSetIndex:            "JS_SetPropertyUint32",
	fnGetStr:              "JS_GetPropertyStr",
	fnGetIndex:            "JS_GetPropertyUint32",
	fnGetLength:           "JS_GetLength",
	fnNewUint8Array:       "JS_NewUint8ArrayCopy",
	fnGetArrayBuffer:      "JS_GetArrayBuffer",
	fnGetTypedArrayBuffer: "JS_GetTypedArrayBuffer",
	fnTypedArrayType:      "JS_GetTypedArrayType",
	fnIsArrayBuffer:       "JS_IsArrayBuffer",
	fnIsDataView:          "JS_IsDataView",
	fnIsArray:             "JS_IsArray",
	fnClassID:             "JS_GetClassID",
	fnIsProxy:             "JS_IsProxy",
	fnProxyTarget:         "JS_GetProxyTarget",
	fnIsFunction:          "JS_IsFunction",
	fnGetException:        "JS_GetException",
	fnThrow:               "JS_Throw",
	fnRunJob:              "JS_ExecutePendingJob",
	fnNewPromise:          "JS_NewPromiseCapability",
	fnPromiseState:        "JS_PromiseState",
	fnPromiseResult:       "JS_PromiseResult",
	fnParseJSON:           "JS_ParseJSON",
	fnToFloat:             "JS_ToFloat64",
	fnToBool:              "JS_ToBool",
	fnGlobal:              "JS_GetGlobalObject",
	fnRunGC:               "JS_RunGC",
	fnSetGCThreshold:      "JS_SetGCThreshold",
	fnPerformThen:         quickjspatch.PerformThen,
	fnSettle:              quickjspatch.Settle,
	fnDup:                 "JS_DupValue",
	fnEnqueueJob:          "JS_EnqueueJob",
	fnNewArrayBuffer:      "JS_NewArrayBuffer",
	fnDetachArrayBuffer:   "JS_DetachArrayBuffer",
	fnNewBigInt64:         "JS_NewBigInt64",
	fnToBigInt64:          "JS_ToBigInt64",
	fnToInt32:             "JS_ToInt32",
	fnCompile:             "qjs_compile",
	fnEvalBytecode:        "qjs_eval_bytecode",
}

// globalID names an exported global of quickjs.wasm; all are of 32 bits.
type globalID int

const (
	globalStack globalID = iota // the end of the C stack in use
	globalCounter
	globalFollow
	globalOwner
	globalFull
	globalRefused
	globalCount
)

// globalNames are their names in quickjs.wasm.
var globalNames = [globalCount]string{
	globalStack:   "__stack_pointer",
	globalCounter: quickjspatch.CounterGlobal,
	globalFollow:  quickjspatch.FollowGlobal,
	globalOwner:   quickjspatch.OwnerGlobal,
	globalFull:    quickjspatch.FullGlobal,
	globalRefused: quickjspatch.RefusedGlobal,
}

// stack is the arguments of an exported function, then its result in the first place.
type stack [8]uint64
